"""The whole system offline: control plane, workers, a simulated GitHub, scripted agents, on a throw-away folder."""
