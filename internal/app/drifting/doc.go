// Package drifting is the command drift: it compares real objects with what is recorded, and changes nothing. Options
// with an engine come in; a drift.Report goes out. It owns the files of baselines.
package drifting
