// Package api calls the API server of a cluster, in one namespace: Pods, their events and
// programs, the Lease of a state, and the rights of the caller. It tries again what failed
// because the server did not answer, for as long as its patience lasts. It decides nothing.
package api
