"""What pages, the API and other flows read of merging, one subject a file."""

from merging.selectors.detail import merge_detail, merge_flow_of

__all__ = ["merge_detail", "merge_flow_of"]
