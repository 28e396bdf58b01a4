// Package machinegrant decides which images may have the whole machine. The name of an image
// comes in; yes or no goes out, as the owner of the machine has listed it.
package machinegrant
