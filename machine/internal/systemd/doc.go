// Package systemd has the kinds for what systemd runs: service, unit, drop_in and timer, and mount
// and swap, which are units too. It knows systemd's states and its files, and gets events from its
// bus.
package systemd
