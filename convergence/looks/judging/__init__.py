"""From what a look gathered to the facts that the guards decide on."""
