<?php
while (true) {
	for ($i = 0; $i < 500; $i++)
		preg_match('/(a+)+b(c|d)*e$/', "xxaaaaaabcdcdcdcdcd" . $i);
}
