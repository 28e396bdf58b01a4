// Package latehost says how those hosts are reached that are made of states, such as the
// address of a machine that the same manifests make. It owns when such a host is known:
// a manifest and states come in, and hosts, or why they are not known yet, go out.
package latehost
