// Package frame frames the messages that two deployster processes exchange over one
// stream of bytes, such as the stdin and stdout of ssh. It owns the frames: their form,
// their limits, and large messages in pieces. It reads and writes messages as values;
// package far defines what they mean. It trusts nothing that the other end sends.
package frame
