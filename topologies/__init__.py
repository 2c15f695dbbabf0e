"""Which topics and steps make an app. No branch on what an event says."""
