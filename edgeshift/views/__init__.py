"""What people see of a campaign: pure builders of timelines, tables, live views and the report's page."""
