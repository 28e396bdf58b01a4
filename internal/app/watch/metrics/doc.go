// Package metrics counts the events of a watch, and serves the counts, and whether the
// watch works, to Prometheus. It owns the names of the series. Events of package watch
// come in, HTTP goes out. No label contains an address: there are as many series for
// 10,000 resources as for one.
package metrics
