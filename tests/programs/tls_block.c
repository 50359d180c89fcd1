/*
 * A library with 16 bytes of thread-local data: in the room that is the same for all threads
 * (STATIC), or wherever each thread gets it.
 */
#ifdef STATIC
#define MODEL "initial-exec"
#else
#define MODEL "global-dynamic"
#endif

static __thread char block[16] __attribute__((tls_model(MODEL)));

char *tls_block(void);

char *tls_block(void)
{
	return block;
}
