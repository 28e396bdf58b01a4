// Package server answers the requests of an editor about manifests, by the Language Server Protocol. Messages come
// in over a connection; answers and diagnostics go out. It ends with its client.
package server
