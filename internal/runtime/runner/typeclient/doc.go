// Package typeclient speaks the protocol with the images of resource types. It owns the
// messages of each version of the protocol: requests for init, state and actions come in,
// the package runs images for them, and typed answers go out. It does not trust the answers.
package typeclient
