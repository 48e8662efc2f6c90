"""What people and agents see: the command line, MCP, and the page of `suanzi site`."""
