#!/usr/bin/env python3
"""The command line of Factory; makes its own virtual environment on first use."""

import sys

from factory_site import bootstrap

if __name__ == "__main__":
    sys.exit(bootstrap.main(sys.argv[1:]))
