"""The authoring tool: what makes the data sets. Nothing at run time imports it."""
