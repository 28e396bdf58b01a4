// Package metrics counts what happens in a watch, and serves that to Prometheus, with
// whether the watch goes on. It owns the names of the series. What package watch tells
// comes in, HTTP goes out. No label has a resource in it: there are as many series for
// 10,000 resources as for one.
package metrics
