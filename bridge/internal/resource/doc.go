// Package resource handles one object: it has a provider read, plan, create, change and
// remove the object. The messages of deployster come in; answers, including the memory, go
// out.
package resource
