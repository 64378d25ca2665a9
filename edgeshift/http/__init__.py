"""What every client of an outside system shares that speaks HTTP: the proxy and the TLS by which it is
reached, one document posted to it, and each request told as it is made.
"""
