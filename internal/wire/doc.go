// Package wire is how two ends of deployster speak over one stream of bytes, such
// as the stdin and stdout of ssh. It owns the frames: their form, their limits,
// and large messages in pieces. Messages come in and go out as values; what they
// mean is the matter of package far. Nothing that the other end says is trusted.
package wire
