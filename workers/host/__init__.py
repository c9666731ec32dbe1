"""The worker process: claims runs over HTTP, executes one at a time, and publishes what it verified."""
