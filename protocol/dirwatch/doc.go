// Package dirwatch reports changes to files in directories, for types that watch
// files. All watches of a process share one inotify instance. A type whose things
// are files needs no more than
//
//	var files dirwatch.Watcher
//
//	func (note) Watch(ctx context.Context, c *call, tell func(string)) error {
//		return files.Watch(ctx, "/notes/"+c.Config.Name, tell)
//	}
package dirwatch
