"""What a step does. Nothing here knows a topic name or an app id."""
