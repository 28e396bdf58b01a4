// Package discover asks types what there is, and writes a resource block for each thing
// that is neither declared nor recorded: the way to adopt a hundred things that exist. A
// manifest and the state come in, a manifest goes out.
package discover
