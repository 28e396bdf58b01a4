// Package latehost handles the hosts whose settings use states, in an apply. A step comes in; it goes
// out with its present host and with its plugs as they are there. It owns which of these hosts the
// plan makes anew; the connections are the Reacher's.
package latehost
