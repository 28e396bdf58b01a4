// Package judging has the images of types judge the configs of a manifest, for the command validate. A manifest comes in; what schemas
// and images find in its configs goes out. It queries no state.
package judging
