// Package place is a namespace of a cluster as a remote.Place: it runs each invocation in a Pod, by the agent that
// is the first process of the Pod, over an exec of the API server. Each Pod is a host of a router: so what repeats
// queries, adopts actions and shows output once is the same as for machines. The package decides in which Pod something
// runs, whether it may be begun, and what is certain about its end.
package place
