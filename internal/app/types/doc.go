// Package types describes the image of one type. The command and the machine that it runs on come in;
// its init answer goes out.
package types
