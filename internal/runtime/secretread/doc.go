// Package secretread runs the images of secret blocks. A target and a config come in; what its image prints as a secret goes
// out, checked, and no other package sees an answer that is not valid.
package secretread
