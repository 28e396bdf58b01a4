// Package certificates has the kind certificate: a certificate in a file, and its key in another, signed by
// itself, by an authority of the machine, or by a server of ACME. The key never leaves the machine.
package certificates
