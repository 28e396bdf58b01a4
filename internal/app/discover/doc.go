// Package discover queries types for their objects, and writes a resource block for each
// object that is neither declared nor recorded: the way to adopt a hundred existing
// objects. A manifest and the state come in, a manifest goes out.
package discover
