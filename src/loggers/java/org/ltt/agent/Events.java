// SPDX-License-Identifier: LGPL-2.1-or-later
package org.ltt.agent;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The event of all messages of a logging library. Without libltt nothing is recorded, with one
 * warning. Thread-safe.
 */
public final class Events {
	public static final Events JUL = new Events(0);
	public static final Events LOG4J = new Events(1);
	public static final Events LOG4J2 = new Events(2);

	private static final int LOGGERS_MAX = 4096; // names that libltt has

	private final Set<String> loggers = ConcurrentHashMap.newKeySet();
	private String last; // logger; another thread's is as good
	private final long handle;
	private final IntBuffer flag; // 1 while it has a listener

	private Events(int library) {
		ByteBuffer bytes = Library.LOADED ? flag(library) : ByteBuffer.allocateDirect(Integer.BYTES);

		flag = bytes.order(ByteOrder.nativeOrder()).asIntBuffer();
		handle = Library.LOADED ? add(library) : 0;
	}

	/** Whether a session records it now. */
	public boolean isListened() {
		return flag.get(0) != 0;
	}

	/** A logger of the program, which has logged a message: its name is in lists. */
	public void seen(String logger) {
		if (logger == last) // of one logger it is the same text
			return;
		last = logger;
		if (handle != 0 && logger != null && loggers.size() < LOGGERS_MAX && loggers.add(logger)) {
			Payload payload = Payload.begin().text(logger);
			logger(handle, payload.bytes, payload.length);
		}
	}

	public void emit(Payload payload) {
		emit(handle, payload.bytes, payload.length);
	}

	private static native long add(int library);

	private static native ByteBuffer flag(int library);

	private static native void logger(long handle, byte[] name, int length);

	private static native void emit(long handle, byte[] payload, int length);

	private static final class Library {
		static final boolean LOADED = load();

		private static boolean load() {
			try {
				String path = System.getProperty("org.ltt.agent.library", installed());
				if (path != null && new File(path).exists())
					System.load(path);
				else
					System.loadLibrary("ltt-java");
				return true;
			} catch (LinkageError | IOException | SecurityException e) {
				System.err.println("ltt-agent: log messages are not recorded: " + e.getMessage());
				return false;
			}
		}

		/** The path that `make install` has; null: unknown. */
		private static String installed() throws IOException {
			try (InputStream in = Events.class.getResourceAsStream("library")) {
				return in == null ? null :
						    new BufferedReader(new InputStreamReader(
									       in, StandardCharsets.UTF_8))
							    .readLine();
			}
		}
	}
}
