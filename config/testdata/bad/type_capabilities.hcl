type "t" {
  image = "a/b"
  capabilities {
    add  = ["NET_ADMINN"]
    drop = ["chown", "KILL"]
  }
}
type "u" {
  image = "a/b"
  capabilities {
    add  = ["SYS_TIME"]
    drop = ["CAP_SYS_TIME"]
  }
}
# error 4:12 There is no capability "NET_ADMINN". Did you mean "NET_ADMIN"?
# error 12:12 both added and dropped
