// Package fakeapi is an API server for tests: Pods, events, Leases, rights and quotas of one namespace over HTTP, and exec by
// WebSocket and SPDY. Its kubelet starts an agent for each Pod and moves the Pod's status. Tests make it refuse, delay,
// lose and repeat requests, and find all that it was sent.
package fakeapi
