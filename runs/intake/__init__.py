"""What comes in from outside by itself: signed webhook deliveries, each admitted once."""
