"""What people see of a campaign: timelines, tables, the live picture, the report's page.

Builders are pure. Calls are made by ``finding``, ``gathering``, ``watching`` and ``report_file`` alone.
"""
