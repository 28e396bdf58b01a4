// Package systemd has the kinds for what systemd runs: service, unit and timer. It knows
// systemd's states and its files, and gets events from its bus.
package systemd
