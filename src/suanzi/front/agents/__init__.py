"""For agents: the schemas of what commands print, a SKILL.md, and tools over MCP."""
