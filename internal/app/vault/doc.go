// Package vault owns the values of the secret blocks of a manifest while a plan or an apply uses them. Blocks
// and a client that runs their images come in; values go out to the messages of resources. It keeps them in
// memory, runs each image once, and gives a resource one value from the query of its step to its verification.
package vault
