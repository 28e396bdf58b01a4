// Package discover asks types which things exist, and writes a resource block for each
// thing that is neither declared nor recorded: the way to adopt a hundred existing
// things. A manifest and the state come in, a manifest goes out.
package discover
