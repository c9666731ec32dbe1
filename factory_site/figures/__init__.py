"""What is counted and measured over all apps: for `status`, the doctor and `/metrics`."""
