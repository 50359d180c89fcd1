package main

func called() bool { return true }
