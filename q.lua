wrk.method="OPTIONS"
