"""Pure functions over frozen values: no clock, environment, log, asyncio or I/O."""
