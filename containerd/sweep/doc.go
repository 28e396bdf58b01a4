// Package sweep removes what dead clients have left, and saves how their actions ended
// for the clients that adopt them. The labels on containers and the files of runs come
// in; outcomes go out. It never ends an action that may still run.
package sweep
