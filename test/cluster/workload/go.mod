module tapfix.dev/test/workload

go 1.26.0
