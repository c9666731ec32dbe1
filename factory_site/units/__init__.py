"""Service definitions: what keeps the control plane and the pool of a machine alive, for launchd and for systemd."""
