// Package types describes the image of one type, and tests whether it keeps the protocol. The
// command and the machine that it runs on come in; its init answer goes out, or a report.
package types
