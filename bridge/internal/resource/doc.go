// Package resource handles one thing: it has a provider read, plan, create, change and
// remove the thing. The messages of deployster come in; answers, including the memory, go
// out.
package resource
