// Package latehost reports how hosts are reached whose settings use states, such as the
// address of a machine that the same manifests create. It decides when such a host is
// known: it takes a manifest and states, and returns hosts, or why they are unknown.
package latehost
