// Package latehost handles the hosts whose settings use states, in an apply. A step comes in; it goes
// out with its present host, and with the paths of its plugs on that host. It owns which of these
// hosts the plan creates again; the connections are the Reacher's.
package latehost
