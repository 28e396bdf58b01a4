// Package dirwatch tells of changes to files in directories, for types that watch
// some. All that a process watches uses inotify once. A type whose things are
// files says no more than
//
//	var files dirwatch.Watcher
//
//	func (note) Watch(ctx context.Context, c *call, tell func(string)) error {
//		return files.Watch(ctx, "/notes/"+c.Config.Name, tell)
//	}
package dirwatch
