// Package secretgrant puts the values of secret blocks into what one invocation of an image gets, and keeps them out of
// what it answers. Values and the texts that name them come in; inputs, specs and verdicts on answers go out.
package secretgrant
