// Package saved keeps what the undo of a guarded action needs: files as they are, and values. They
// come from the machine and go to a directory of deployster there, and survive a power cut.
package saved
